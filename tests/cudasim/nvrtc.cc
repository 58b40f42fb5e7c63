// NVRTC and hiprtc, by g++: a .cu or .hip file becomes a shared library whose loads and stores are
// announced to shadow.cc (that is what g++ -fsanitize=thread makes; its callbacks are ours). The
// "PTX" is that library, as hexadecimal digits in a comment.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <ftw.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "machine.h"

namespace {

enum : int { success = 0, invalid_program = 4, invalid_option = 5, compilation_failed = 6, internal_error = 11 };

struct program {
    std::string source, name, log, image;
    std::vector<std::pair<std::string, std::string>> headers; // name, text
    bool is_hip = false;
};

bool is_word(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The source with comments, strings and directives blanked, of the same length.
std::string blank(const std::string &source) {
    std::string text = source;
    size_t i = 0, n = text.size();
    auto wipe = [&](size_t end) {
        for (; i < end && i < n; i++)
            if (text[i] != '\n')
                text[i] = ' ';
    };
    bool line_start = true;
    while (i < n) {
        if (text.compare(i, 2, "//") == 0) {
            wipe(text.find('\n', i));
        } else if (text.compare(i, 2, "/*") == 0) {
            size_t end = text.find("*/", i + 2);
            wipe(end == std::string::npos ? n : end + 2);
        } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word(text[i - 1])))) {
            size_t end = i + 1;
            while (end < n && text[end] != text[i] && text[end] != '\n')
                end += text[end] == '\\' ? 2 : 1;
            wipe(end + 1);
            line_start = false;
        } else if (text[i] == '#' && line_start) {
            size_t end = text.find('\n', i);
            while (end != std::string::npos && text[end - 1] == '\\')
                end = text.find('\n', end + 1);
            wipe(end);
        } else {
            line_start = text[i] == '\n' || (line_start && isspace(static_cast<unsigned char>(text[i])));
            i++;
        }
    }
    return text;
}

size_t find_word(const std::string &text, const std::string &word, size_t from) {
    for (size_t at = text.find(word, from); at != std::string::npos; at = text.find(word, at + 1))
        if ((at == 0 || !is_word(text[at - 1])) &&
            (at + word.size() >= text.size() || !is_word(text[at + word.size()])))
            return at;
    return std::string::npos;
}

// After the parenthesis that closes the one at `open`.
size_t after_parentheses(const std::string &text, size_t open) {
    int depth = 0;
    for (size_t i = open; i < text.size(); i++) {
        depth += text[i] == '(';
        if (text[i] == ')' && --depth == 0)
            return i + 1;
    }
    return text.size();
}

struct kernel {
    std::string name, bound;
};

std::vector<kernel> find_kernels(const std::string &text) {
    std::vector<kernel> kernels;
    for (size_t at = find_word(text, "__global__", 0); at != std::string::npos;
         at = find_word(text, "__global__", at)) {
        at += strlen("__global__");
        kernel one;
        while (at < text.size() && text[at] != ';' && text[at] != '{') {
            if (!is_word(text[at])) {
                at++;
                continue;
            }
            size_t begin = at;
            while (at < text.size() && is_word(text[at]))
                at++;
            std::string word = text.substr(begin, at - begin);
            size_t open = text.find_first_not_of(" \t\r\n", at);
            if (open == std::string::npos || text[open] != '(')
                continue;
            if (word == "__launch_bounds__") {
                size_t close = after_parentheses(text, open);
                one.bound = text.substr(open + 1, close - open - 2);
                one.bound =
                    one.bound.substr(0, one.bound.find(',')); // how many blocks may be resident says nothing here
                at = close;
            } else if (word.compare(0, 2, "__") == 0) {
                at = after_parentheses(text, open);
            } else {
                one.name = word;
                break;
            }
        }
        bool known = one.name.empty();
        for (const kernel &other : kernels)
            known |= other.name == one.name;
        if (!known)
            kernels.push_back(one);
    }
    return kernels;
}

// `extern __shared__ T name[];` becomes a pointer to the dynamic shared memory, all on the same lines.
std::string rewrite_dynamic_shared(std::string source) {
    std::string text = blank(source);
    for (size_t at = find_word(text, "__shared__", 0); at != std::string::npos;
         at = find_word(text, "__shared__", at + 1)) {
        size_t before = text.find_last_not_of(" \t\r\n", at ? at - 1 : 0);
        size_t end = text.find(';', at), bracket = text.find('[', at);
        if (before == std::string::npos || before < 5 || text.compare(before - 5, 6, "extern") != 0 ||
            end == std::string::npos || bracket > end)
            continue;
        size_t begin = before - 5;
        std::string type = source.substr(at + strlen("__shared__"), bracket - at - strlen("__shared__"));
        for (const char *attribute : {"__align__", "alignas"}) {
            size_t found = find_word(type, attribute, 0);
            if (found != std::string::npos)
                type.erase(found, after_parentheses(type, found) - found);
        }
        size_t name_end = type.find_last_not_of(" \t\r\n");
        size_t name_begin = name_end;
        while (name_begin > 0 && is_word(type[name_begin - 1]))
            name_begin--;
        std::string name = type.substr(name_begin, name_end + 1 - name_begin);
        type.erase(name_begin);
        source.replace(begin, end - begin,
                       "static " + type + "*const " + name + " = (" + type + "*)cudasim_dynamic_shared()");
        text = blank(source);
        at = begin;
    }
    return source;
}

// After a check of fclc's has failed, a kernel's results mean nothing, and may be made of memory that nobody wrote.
std::string tell_of_failures(std::string source) {
    size_t report = source.find("void fcl_failed("), body = source.find('{', report);
    if (report != std::string::npos && body != std::string::npos)
        source.insert(body + 1, " cudasim_failed();");
    return source;
}

// CUDASIM_LOCAL=BYTES:TEXT: as if the registers did not suffice for the kernels of programs that contain the text.
unsigned local_bytes(const std::string &source) {
    const char *given = getenv("CUDASIM_LOCAL"), *colon = given ? strchr(given, ':') : nullptr;
    return colon && source.find(colon + 1) != std::string::npos ? static_cast<unsigned>(atoi(given)) : 0;
}

// The text behind the user's program: how its kernels are entered, and where its shared variables lie.
std::string entries(const std::vector<kernel> &kernels, unsigned local_bytes, bool is_hip) {
    std::ostringstream out;
    out << "\n#line 1 \"cudasim\"\n"
           "extern \"C\" {\n"
           "extern char __start_cudasim_shared[] __attribute__((visibility(\"hidden\")));\n"
           "extern char __stop_cudasim_shared[] __attribute__((visibility(\"hidden\")));\n"
           "__attribute__((section(\"cudasim_shared\"))) char cudasim_guard[1024];\n"
           "void cudasim_shared_range(char **begin, char **end) __attribute__((no_sanitize_thread));\n"
           "void cudasim_shared_range(char **begin, char **end) {\n"
           "    *begin = __start_cudasim_shared;\n"
           "    *end = __stop_cudasim_shared;\n"
           "}\n";
    if (is_hip)
        out << "unsigned cudasim_hip[] = {" << cudasim::wave_size() << "};\n";
    for (const kernel &one : kernels) {
        out << "void cudasim_entry_" << one.name << "(void **arguments) __attribute__((no_sanitize_thread));\n"
            << "void cudasim_entry_" << one.name << "(void **arguments) { cudasim::invoke(&::" << one.name
            << ", arguments); }\n"
            << "unsigned cudasim_sizes_" << one.name << "(unsigned *) __attribute__((no_sanitize_thread));\n"
            << "unsigned cudasim_sizes_" << one.name << "(unsigned *sizes) { return cudasim::sizes_of(&::" << one.name
            << ", sizes); }\n";
        if (!one.bound.empty())
            out << "unsigned cudasim_bound_" << one.name << "[] = {" << one.bound << "};\n";
        if (local_bytes)
            out << "unsigned cudasim_local_" << one.name << "[] = {" << local_bytes << "};\n";
    }
    out << "}\n";
    return out.str();
}

std::string read_all(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void write_all(const std::string &path, const std::string &text) { std::ofstream(path, std::ios::binary) << text; }

std::string quote(const std::string &word) {
    std::string quoted = "'";
    for (char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string base_name(const std::string &path) { return path.substr(path.find_last_of('/') + 1); }

int remove_one(const char *path, const struct stat *, int, struct FTW *) { return remove(path); }

// Options that mean something here; the others are checked for their names alone.
int translate(int count, const char *const *options, std::string &flags, std::string &log) {
    static const char *const ignored[] = {"-arch",
                                          "--gpu-architecture",
                                          "-std",
                                          "--std",
                                          "-default-device",
                                          "--device-as-default-execution-space",
                                          "-fmad",
                                          "--fmad",
                                          "-lineinfo",
                                          "--generate-line-info",
                                          "-use_fast_math",
                                          "--use_fast_math",
                                          "-maxrregcount",
                                          "--maxrregcount",
                                          "-ftz",
                                          "--ftz",
                                          "-prec-div",
                                          "--prec-div",
                                          "-prec-sqrt",
                                          "--prec-sqrt",
                                          "-w",
                                          "--disable-warnings",
                                          "-rdc",
                                          "--relocatable-device-code",
                                          "-restrict",
                                          "--restrict",
                                          "-dopt",
                                          "--dopt",
                                          "-extra-device-vectorization",
                                          "--extra-device-vectorization",
                                          "-ewp",
                                          "-Werror",
                                          "--display-error-number",
                                          "-ffp-contract",
                                          "--offload-arch"};
    for (int i = 0; i < count; i++) {
        std::string option = options[i];
        if (option.compare(0, 2, "-D") == 0 || option.compare(0, 2, "-I") == 0 || option.compare(0, 2, "-U") == 0) {
            flags += " " + quote(option);
            continue;
        }
        if (option.compare(0, 16, "--define-macro=") == 0) {
            flags += " " + quote("-D" + option.substr(15));
            continue;
        }
        if (option == "-G" || option == "--device-debug" || option == "-O0") { // the last is hiprtc's
            flags += " -O0";
            continue;
        }
        bool known = false;
        std::string name = option.substr(0, option.find('='));
        for (const char *one : ignored)
            known |= name == one;
        if (!known) {
            log = "nvrtc: error: invalid value for option " + option + "\n";
            return invalid_option;
        }
    }
    return success;
}

} // namespace

extern "C" {

int nvrtcVersion(int *major, int *minor) {
    *major = 12;
    *minor = 0;
    return success;
}

int nvrtcGetNumSupportedArchs(int *count) {
    *count = 1;
    return success;
}

int nvrtcGetSupportedArchs(int *architectures) {
    architectures[0] = 75;
    return success;
}

const char *nvrtcGetErrorString(int status) {
    switch (status) {
    case success: return "NVRTC_SUCCESS";
    case invalid_program: return "NVRTC_ERROR_INVALID_PROGRAM";
    case invalid_option: return "NVRTC_ERROR_INVALID_OPTION";
    case compilation_failed: return "NVRTC_ERROR_COMPILATION";
    case internal_error: return "NVRTC_ERROR_INTERNAL_ERROR";
    default: return "NVRTC_ERROR_UNKNOWN";
    }
}

int nvrtcCreateProgram(program **result, const char *source, const char *name, int count, const char *const *headers,
                       const char *const *header_names) {
    auto one = new program{source, name && *name ? name : "default_program", "", "", {}};
    for (int i = 0; i < count; i++)
        one->headers.emplace_back(header_names[i], headers[i]);
    *result = one;
    return success;
}

int nvrtcDestroyProgram(program **one) {
    delete *one;
    *one = nullptr;
    return success;
}

int nvrtcCompileProgram(program *one, int count, const char *const *options) {
    std::string flags;
    int status = translate(count, options, flags, one->log);
    if (status)
        return status;
    const char *temporary = getenv("TMPDIR");
    std::string folder = std::string(temporary && *temporary ? temporary : "/tmp") + "/cudasim-XXXXXX";
    if (!mkdtemp(folder.data())) {
        one->log = "the simulator cannot make a directory in " + folder + "\n";
        return internal_error;
    }
    std::string source = folder + "/" + base_name(one->name), library = folder + "/.kernel.so", log = folder + "/.log";
    for (const auto &header : one->headers)
        write_all(folder + "/" + base_name(header.first), header.second);
    write_all(source, "#line 1 " + std::string("\"") + base_name(one->name) + "\"\n" +
                          tell_of_failures(rewrite_dynamic_shared(one->source)) +
                          entries(find_kernels(blank(one->source)), local_bytes(one->source), one->is_hip));
    const char *compiler = getenv("CUDASIM_CXX");
    std::string command =
        std::string(compiler ? compiler : "g++") +
        " -x c++ -std=c++17 -O1 -g1 -w -fsanitize=thread --param tsan-distinguish-volatile=1 -fwrapv -ffp-contract=off "
        "-fno-strict-aliasing"
        " -fno-tree-loop-im -fno-tree-phiprop" // these load what a branch not taken would, which no kernel has written
        " -fno-tree-loop-distribute-patterns -fno-exceptions -fno-rtti -fno-gnu-unique -fPIC -shared -nostdlib "
        "-Wl,-Bsymbolic -I" +
        quote(folder) + flags +
        (one->is_hip ? " -DCUDASIM_HIP=" + std::to_string(cudasim::wave_size()) : std::string()) + " -include " +
        quote(CUDASIM_HEADER) + " -o " + quote(library) + " " + quote(source) + " -Wl,--build-id=none -lm >" +
        quote(log) + " 2>&1 </dev/null";
    int result = system(command.c_str());
    one->log = read_all(log);
    if (result == 0) {
        std::string bytes = read_all(library);
        one->image = "// cudasim:";
        one->image.reserve(bytes.size() * 2 + 16);
        for (unsigned char byte : bytes) {
            one->image += "0123456789abcdef"[byte >> 4];
            one->image += "0123456789abcdef"[byte & 15];
        }
        one->image += "\n";
    }
    nftw(folder.c_str(), remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return result == 0 ? success : compilation_failed;
}

int nvrtcGetPTXSize(program *one, size_t *bytes) {
    *bytes = one->image.size() + 1;
    return one->image.empty() ? invalid_program : success;
}

int nvrtcGetPTX(program *one, char *text) {
    memcpy(text, one->image.c_str(), one->image.size() + 1);
    return success;
}

int nvrtcGetCUBINSize(program *one, size_t *bytes) { return nvrtcGetPTXSize(one, bytes); }

int nvrtcGetCUBIN(program *one, char *bytes) { return nvrtcGetPTX(one, bytes); }

int nvrtcGetProgramLogSize(program *one, size_t *bytes) {
    *bytes = one->log.size() + 1;
    return success;
}

int nvrtcGetProgramLog(program *one, char *text) {
    memcpy(text, one->log.c_str(), one->log.size() + 1);
    return success;
}

// ---------------------------------------------------------------- hiprtc

int hiprtcVersion(int *major, int *minor) { return nvrtcVersion(major, minor); }

const char *hiprtcGetErrorString(int status) { return nvrtcGetErrorString(status); }

int hiprtcCreateProgram(program **result, const char *source, const char *name, int count, const char *const *headers,
                        const char *const *header_names) {
    int status = nvrtcCreateProgram(result, source, name, count, headers, header_names);
    if (status == success)
        (*result)->is_hip = true;
    return status;
}

int hiprtcDestroyProgram(program **one) { return nvrtcDestroyProgram(one); }

int hiprtcCompileProgram(program *one, int count, const char *const *options) {
    return nvrtcCompileProgram(one, count, options);
}

int hiprtcGetCodeSize(program *one, size_t *bytes) { return nvrtcGetPTXSize(one, bytes); }

int hiprtcGetCode(program *one, char *code) { return nvrtcGetPTX(one, code); }

int hiprtcGetProgramLogSize(program *one, size_t *bytes) { return nvrtcGetProgramLogSize(one, bytes); }

int hiprtcGetProgramLog(program *one, char *text) { return nvrtcGetProgramLog(one, text); }
}
