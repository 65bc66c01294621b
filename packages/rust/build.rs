//! Links the library that `make c` builds. CLEW_LIB_DIR names its folder; without it, it is the bin of the repository.

use std::{env, path::Path};

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").unwrap();
    let folder = env::var("CLEW_LIB_DIR").unwrap_or_else(|_| format!("{manifest}/../../bin"));
    println!("cargo:rerun-if-env-changed=CLEW_LIB_DIR");
    println!("cargo:rerun-if-changed={folder}/libclew.a");
    if !Path::new(&folder).join("libclew.a").exists() {
        panic!("{folder} has no libclew.a; build it with `make c`, and name its folder in CLEW_LIB_DIR");
    }
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=static=clew");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("macos") {
        for framework in ["CoreFoundation", "Security"] {
            println!("cargo:rustc-link-lib=framework={framework}");
        }
        println!("cargo:rustc-link-lib=resolv");
    }
}
