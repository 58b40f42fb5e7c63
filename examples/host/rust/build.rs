// Compiles ../sums.fcl to C functions, and these into the program; FCL_PREFIX is where fclc is installed (/usr/local).
use std::{env, fs, path::PathBuf, process::Command};

fn main() {
    let prefix = env::var("FCL_PREFIX").unwrap_or_else(|_| "/usr/local".into());
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let status = Command::new(format!("{prefix}/bin/fclc"))
        .arg("../sums.fcl")
        .arg("-o")
        .arg(out.join("sums.c"))
        .status()
        .expect("fclc does not start: is it below FCL_PREFIX?");
    assert!(status.success());
    let functions = out.join("sums_functions.c");
    fs::write(&functions, "#define SUMS_IMPLEMENTATION\n#include \"sums.h\"\n").unwrap();
    cc::Build::new().file(functions).include(out).include(format!("{prefix}/include")).compile("sums");
    println!("cargo:rustc-link-search=native={prefix}/lib");
    println!("cargo:rustc-link-lib=static=fcl");
    println!("cargo:rustc-link-lib=dylib=dl");
    println!("cargo:rustc-link-lib=dylib=m");
    println!("cargo:rerun-if-changed=../sums.fcl");
    println!("cargo:rerun-if-env-changed=FCL_PREFIX");
}
