/* The files of `fclc new`, from tools/new/: the build makes gen/new_files.c of them. */
#ifndef FCL_TOOLS_NEW_FILES_H
#define FCL_TOOLS_NEW_FILES_H

struct new_file {
    const char *name; /* with NAME in it, as in the text; NULL: after the last one */
    const char *text;
};
extern const struct new_file new_files[];

#endif
