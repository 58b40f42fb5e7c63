"""Compiles a HIP file by AMD's run-time compiler, which needs no GPU: hiprtc.py FILE.hip OPTION….

Status 0, and the bytes of the code; 1, and its log; 3 where there is no hiprtc."""

import ctypes
import sys

LIBRARIES = ("libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6", "libamdhip64.so", "libamdhip64.so.5")


def library():
    for name in LIBRARIES:
        try:
            found = ctypes.CDLL(name)
            if hasattr(found, "hiprtcCompileProgram"):
                return found
        except OSError:
            continue
    print("no hiprtc on this machine (Debian: package libamdhip64-5)")
    sys.exit(3)


def main():
    hiprtc = library()
    with open(sys.argv[1], "rb") as file:
        source = file.read()
    options = [option.encode() for option in sys.argv[2:]]
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    status = hiprtc.hiprtcCreateProgram(ctypes.byref(program), source, b"kernels.hip", 0, None, None)
    if status == 0:
        status = hiprtc.hiprtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    if status:
        hiprtc.hiprtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        hiprtc.hiprtcGetProgramLog(program, log)
        print(f"status {status}: {log.value.decode()}")
        sys.exit(1)
    hiprtc.hiprtcGetCodeSize(program, ctypes.byref(size))
    print(size.value)


if __name__ == "__main__":
    main()
