;;; fcl-mode.el --- Major mode for FCL programs  -*- lexical-binding: t -*-

;; Version: 0.2.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages

;;; Commentary:

;; FCL is a functional language for GPU kernels.  The mode highlights programs, lays them out with
;; `fclc fmt' (`fcl-format-buffer'), and tells Eglot of `fclc lsp': M-x eglot starts it.

;;; Code:

(defgroup fcl nil
  "FCL, a functional language for GPU kernels."
  :group 'languages)

(defcustom fcl-fclc "fclc"
  "The compiler."
  :type 'string)

(defvar fcl-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?\( "()1n" table)
    (modify-syntax-entry ?\) ")(4n" table)
    (modify-syntax-entry ?* ". 23n" table)
    (modify-syntax-entry ?- "." table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?\[ "(]" table)
    (modify-syntax-entry ?\] ")[" table)
    (modify-syntax-entry ?\{ "(}" table)
    (modify-syntax-entry ?\} "){" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?' "_" table)
    (modify-syntax-entry ?_ "_" table)
    (dolist (sign '(?+ ?/ ?% ?! ?~ ?& ?| ?^ ?< ?= ?> ?. ?:))
      (modify-syntax-entry sign "." table))
    table)
  "Syntax of FCL: comments are `-- …' and `(* … *)', which nest.")

(defconst fcl-font-lock-keywords
  `((,(concat "\\_<" (regexp-opt '("sig" "fun" "val" "kernel" "param" "type"))
              "\\_>[ \t]+\\(_*[A-Za-z][A-Za-z0-9_']*\\)")
     1 font-lock-function-name-face)
    (,(regexp-opt '("sig" "fun" "val" "kernel" "param" "type" "import" "match" "let" "in" "fn" "if" "then"
                    "else" "div" "mod" "not")
                  'symbols)
     . font-lock-keyword-face)
    ("\\_<\\(with\\)\\_>[ \t]+\\(?:#\\|\\(?:contract\\|approximate\\|anyOrder\\)\\_>\\)" 1 font-lock-keyword-face)
    ("\\_<with[ \t]+\\(contract\\|approximate\\|anyOrder\\)\\_>" 1 font-lock-keyword-face)
    (,(concat ",[ \t]*\\(contract\\|approximate\\|anyOrder\\)[ \t]*\\(?:=\\(?:[^=]\\|$\\)"
              "\\|,[ \t]*\\(?:#\\|\\(?:contract\\|approximate\\|anyOrder\\)\\_>\\)\\)")
     1 font-lock-keyword-face)
    (,(regexp-opt '("true" "false") 'symbols) . font-lock-constant-face)
    ("#[A-Za-z][A-Za-z0-9_']*" . font-lock-builtin-face)
    ("\\_<'[A-Za-z][A-Za-z0-9_']*" . font-lock-type-face))
  "What is highlighted besides comments and strings.")

;; `(*)' is the product, no comment.  `--' is not in the table: with `(' beginning `(*', too, `(-'
;; would begin a comment.
(defconst fcl-syntax-propertize
  (syntax-propertize-rules ("(\\(\\*\\))" (1 ".")) ("\\(-\\)-" (1 "< b"))))

;;;###autoload
(define-derived-mode fcl-mode prog-mode "FCL"
  "Major mode for FCL programs."
  (setq-local comment-start "-- ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "\\(--+\\|(\\*+\\)[ \t]*")
  (setq-local indent-tabs-mode nil)
  (setq-local font-lock-defaults '(fcl-font-lock-keywords))
  (setq-local syntax-propertize-function fcl-syntax-propertize)
  (setq-local compile-command
              (concat fcl-fclc " check " (if buffer-file-name
                                             (shell-quote-argument buffer-file-name)
                                           ""))))

(defun fcl-format-buffer ()
  "Lay the buffer out with `fclc fmt'."
  (interactive)
  (let ((out (generate-new-buffer " *fclc fmt*")))
    (unwind-protect
        (if (zerop (call-process-region (point-min) (point-max) fcl-fclc nil (list out nil) nil
                                        "fmt" "--stdin"))
            (replace-buffer-contents out)
          (message "fclc fmt: the program has errors"))
      (kill-buffer out))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.fcl\\'" . fcl-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs `(fcl-mode . (,fcl-fclc "lsp"))))

(provide 'fcl-mode)
;;; fcl-mode.el ends here
