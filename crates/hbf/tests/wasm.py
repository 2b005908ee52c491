"""Runs a program of WebAssembly with the system interface WASI: wasm.py PROGRAM FOLDER [ARGUMENT...]

The program sees no other folder. Needs the package wasmtime.
"""
import sys

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig


def main():
    program, folder, *rest = sys.argv[1:]
    config = WasiConfig()
    config.argv = [program, folder, *rest]
    config.inherit_stdin()
    config.inherit_stdout()
    config.inherit_stderr()
    config.preopen_dir(folder, folder)

    engine = Engine()
    store = Store(engine)
    store.set_wasi(config)
    linker = Linker(engine)
    linker.define_wasi()
    instance = linker.instantiate(store, Module.from_file(engine, program))
    try:
        instance.exports(store)["_start"](store)
    except ExitTrap as end:
        sys.exit(end.code)


main()
