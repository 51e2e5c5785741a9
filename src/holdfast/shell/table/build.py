"""Compilers, build tools and test runners: they run what the project says."""

# ruff: noqa: E501 - one program a line, as in a table

_PROJECT = {
    "pos": "text",
    "risk": "caution",
    "why": "it runs what the project configures",
    "unknown": "it runs what the project configures",
    "fx": ["writes:."],
}  # fmt: skip
_COMPILER = {
    "pos": "read",
    "opts": {"-o": "write", "-I": "val", "-L": "val", "-l": "val", "-D": "val", "-x": "val", "-include": "read", "-isystem": "val", "-MF": "write", "-U": "val", "-W": "?val", "-f": "?val", "-O": "?val", "-m": "?val", "-std": "val", "-wrapper": "shell", "-T": "read", "-e": "val", "-z": "val", "-B": "val"},
    "when": [["!-o", {"fx": ["writes:."]}], ["-v n=0", {"ro": True, "fx": []}], ["-wrapper", {"ro": False, "risk": "dangerous", "why": "it runs another program for every step"}]],
}  # fmt: skip

_CC = {
    **_COMPILER,
    "when": [["!-o", {"fx": ["writes:."]}], ["-E", {"ro": True, "fx": []}], ["-f~^syntax-only$", {"ro": True, "fx": []}], ["n=0 !-o", {"ro": True, "fx": []}], ["-wrapper", {"ro": False, "risk": "dangerous", "why": "it runs another program for every step"}]],
}  # fmt: skip

TABLE = {
    "make|gmake|bmake|nmake|remake|mingw32-make|colormake": {
        **_PROJECT,
        "opts": {"-C": "dir", "-f": "read", "-j": "?val", "-I": "val", "-o": "val", "-W": "val", "-l": "?val", "--eval": "make", "--directory": "dir", "--file": "read", "--makefile": "read"},
        "when": [["-n|--just-print|--dry-run|-q|--question|-p", {"unknown": "", "risk": "safe", "fx": [], "ro": False, "only": True}]],
        "handler": "make",
    },
    "ninja|samu|cmake|meson|bazel|bazelisk|buck|buck2|pants|please_build|scons|waf|tup|redo|premake5|xmake|b2|bjam|qmake|configure|autogen.sh|autoconf|automake|autoreconf|aclocal|libtool|libtoolize|gradle|gradlew|mvn|mvnw|mvnd|ant|sbt|mill|lein|boot|leiningen|rake|invoke|inv|fab|doit|just|task|mage|grunt|gulp|webpack|rollup|vite|parcel|esbuild|swc|turbo|nx|lerna|tsup|tsc|babel|next|nuxt|astro|gatsby|remix|svelte-kit|ng|vue|vue-cli-service|react-scripts|expo|electron|electron-builder|storybook|hugo|jekyll|hexo|eleventy|mkdocs|sphinx-build|docusaurus|antora|xcodebuild|fastlane|pod|carthage|flutter|dart|zig|nim|nimble|crystal|shards|stack|cabal|dune|rebar3|mix|gleam|elm|elm-make|spago|purs|idris2|lake|leanpkg|agda|coqc|latexmk|pdflatex|xelatex|lualatex|latex|tex|bibtex|biber|makeindex|typst|asciidoctor|asciidoc|doxygen|protoc|buf|thrift|flatc|swig|capnp|sqlc|openapi-generator|tox|nox|pytest|py.test|unittest|nose2|coverage|hypothesis|jest|vitest|mocha|ava|tap|karma|cypress|playwright|puppeteer|wdio|testcafe|rspec|minitest|cucumber|behave|robot|bats|shunit2|phpunit|pest|codecept|ctest|gtest|catch2|busted|prove|stryker|k6|locust|newman|artillery|karate|nightwatch|detox_test|foreman|honcho|overmind|hivemind|nodemon|supervisor|air|uvicorn|gunicorn|hypercorn|daphne|waitress-serve|flask|django-admin|rails|rackup|puma|unicorn|thin|sidekiq|celery|rq|huey|dramatiq|airflow|dagster|prefect|dbt|luigi|streamlit|gradio|jupyter|jupyter-lab|jupyter-notebook|marimo|papermill|nbconvert|voila|panel|bokeh|tensorboard|mlflow|dvc|wandb|ray|dask|accelerate|torchrun|deepspeed|horovodrun|scrapy|artisan|symfony|drush|magento|bin|electron-forge|tauri|wails|cordova|ionic|capacitor|react-native|metro|detox|eas|nuxi|vercel_build|eslint|biome|stylelint|tslint|standard|xo|rubocop|clippy-driver|phpstan|psalm|phpcs|phpcbf|php-cs-fixer|pint|scalafmt|ktlint|detekt|swiftlint|swiftformat|checkstyle|pmd|spotbugs|sonar-scanner|infer|clang-tidy|include-what-you-use|bear|compiledb|gcovr|lcov|genhtml|kcov|npm-run-all|concurrently|cross-env|run-s|run-p|wireit|moon|earthly|dagger|act|kitchen|inspec|molecule|cookiecutter|copier|yo|plop|hygen|degit|create-react-app|create-next-app|create-vite|express|nest|sails|adonis|strapi|payload|medusa|keystone|sanity": _PROJECT,
    "cmake": {**_PROJECT, "opts": {"-S": "dir", "-B": "write", "-D": "val", "-G": "val", "--build": "dir", "--install": "dir", "--target": "val", "-E": "val", "-P": "script", "-C": "read", "-j": "?val"}, "when": [["-E", {"fx": []}]], "handler": "cmake"},
    "pytest|py.test|jest|vitest|mocha|tox|nox|rspec|phpunit|ctest": {**_PROJECT, "opts": {"-k": "val", "-m": "val", "-n": "val", "-c": "read", "-p": "val", "--cov": "?val", "-t": "val", "-e": "val", "-s": "?val", "-x": "?val", "--junitxml": "write", "--rootdir": "val"}},
    "gcc|g++|cc|c++|clang|clang++|tcc|icc|gfortran|nvcc|ghc|ocamlc|ocamlopt|ocamlfind|fpc|gnat|gnatmake|dmd|ldc2|gdc|v|swiftc|kotlinc|scalac|javac|groovyc|csc|mcs|fsc|vbc|rustc|nasm|yasm|as|gas|ld|lld|gold|mold|objcopy|strip|windres|emcc|em++|ifort|nagfor|pgcc|cython|nuitka|pyinstaller|jar|jarsigner|javadoc|d8|dx|aapt|apktool|zipalign|keytool|ilasm|ildasm|ld.lld|install_name_tool|codesign|lipo|dsymutil|wasm-pack|wasm-opt|wat2wasm|wasm2wat|flex|lex|bison|yacc|gperf|re2c|ragel|antlr4": _COMPILER,
    "gcc|g++|cc|c++|clang|clang++|gfortran|tcc|icc|emcc|em++|nvcc": _CC,
    "jar": {"pos": ["val", "write", "read"], "risk": "caution", "why": "it writes an archive", "when": [["arg0~^-?[a-z]*t[a-z]*$ !-c !-x !-u", {"ro": True, "risk": "safe", "pos": ["val", "read"]}], ["-t|--list !-c !-x !-u !--create !--extract !--update", {"ro": True, "risk": "safe", "pos": "read"}]]},
    "keytool": {"style": "dash", "pos": "text", "risk": "caution", "why": "it changes a store of keys", "opts": {"-keystore": "write", "-file": "write", "-alias": "val", "-storepass": "val", "-providerpath": "script", "-providerclass": "script"}, "when": [["-list|-printcert|-printcrl|-printcertreq !-genkey !-genkeypair !-delete", {"ro": True, "risk": "safe", "opts": {"-keystore": "read", "-file": "read", "-alias": "val", "-storepass": "val", "-providerpath": "script", "-providerclass": "script"}}]]},
    "codesign": {"pos": "write", "risk": "caution", "why": "it signs a program", "opts": {"-s": "val", "--sign": "val"}, "when": [["-v|--verify|-d|--display !-s !--sign !--remove-signature", {"ro": True, "risk": "safe", "pos": "read"}]]},
    "javap|jps|jstack|jstat|jinfo|jmap|jcmd|jdeps|gcov": {"ro": True, "style": "dash", "pos": "text", "opts": {"-dump": "write"}, "when": [["opt~dump", {"ro": False}]]},
    "gdb|lldb|cdb|pdb|dlv|rust-gdb|cgdb": {"pos": "read", "risk": "caution", "why": "it runs a program under its control", "unknown": "it runs a program under its control", "opts": {"-ex": "gdb", "-x": "script", "-p": "val", "-c": "val", "-o": "gdb", "--eval-command": "gdb", "-iex": "gdb", "--init-eval-command": "gdb", "-ix": "script", "-b": "?val"}, "style": "dash", "handler": "debugger"},
    "m4": {"pos": "read", "opts": {"-D": "val", "-I": "val", "-o": "val"}, "unknown": "it runs macros, which may run commands", "handler": "m4"},
    "prettier|black|isort|autopep8|yapf|autoflake|pyupgrade|gofmt|goimports|gofumpt|rustfmt|clang-format|shfmt|stylua|terraform-fmt|buildifier|ocamlformat|ormolu|fourmolu|nixfmt|alejandra|nixpkgs-fmt|sqlfluff|sqlfmt|pg_format|djlint|mdformat|taplo|dprint|google-java-format|elm-format|astyle|uncrustify|indent|tidy-html|jsonnetfmt|cue_fmt|docformatter|add-trailing-comma|reorder-python-imports|ufmt|blue|pyink|csharpier|dotnet-format|erlfmt|zigfmt|efmt": {
        "pos": "write",
        "risk": "caution",
        "why": "it formats files in place",
        "opts": {"-l": "val", "--line-length": "val", "--config": "read", "-c": "?val", "-i": "?val", "--style": "val", "--parser": "val"},
        "when": [["--check|--diff|--dry-run|--check-only|--list-different", {"ro": True, "risk": "safe", "pos": "read", "only": True}]],
    },
    "autopep8|prettier|clang-format|gofmt|goimports|gofumpt|shfmt|autopep8|yapf": {"ro": True, "pos": "read", "opts": {"--style": "val", "--parser": "val", "--config": "read", "-style": "val"}, "when": [["-w|--write|-i|--in-place", {"ro": False, "pos": "write", "risk": "caution", "why": "it formats files in place"}]]},
    "sqlfluff": {"sub": {"lint|parse|render|version|rules|dialects": {"ro": True, "pos": "read", "opts": {"-d": "val", "--dialect": "val", "-r": "val", "--rules": "val", "--write-output": "write"}}, "fix|format": {"pos": "write", "risk": "caution", "why": "it formats files in place", "opts": {"-d": "val", "--dialect": "val", "-r": "val", "--rules": "val"}}}},
    "ruff": {
        "sub": {
            "check": {"ro": False, "pos": "read", "opts": {"-o": "write", "--output-file": "write", "--select": "val", "--ignore": "val", "--config": "read"}, "when": [["--fix|--fix-only|--unsafe-fixes|-w", {"pos": "write", "risk": "caution", "why": "it changes files in place"}]]},
            "format": {"pos": "write", "risk": "caution", "why": "it formats files in place", "when": [["--check|--diff", {"ro": True, "pos": "read", "risk": "safe", "only": True}]]},
            "rule|config|linter|version|help": {"ro": True},
            "clean": {"risk": "caution", "why": "it deletes its cache"},
        },
    },
    "go": {
        "sub": {
            "version|env|list|doc|help|vet": {"ro": True, "pos": "text", "style": "dash", "opts": {"-f": "val"}, "when": [["-w|-u|-vettool|-mod", {"ro": False, "risk": "caution", "why": "it changes settings or runs a tool"}]]},
            "build|install|run|test|generate|mod|get|work|clean|fmt|fix|tool|telemetry|bug": {"pos": "text", "style": "dash", "risk": "caution", "why": "it builds or runs the project", "unknown": "it builds or runs the project", "opts": {"-o": "write", "-exec": "shell", "-toolexec": "shell", "-C": "dir"}, "fx": ["writes:."]},
            "get|install": {"pos": "pkg", "risk": "caution", "why": "it installs packages", "fx": ["network", "installs"]},
            "clean": {"pos": "text", "risk": "caution", "why": "it deletes what was built", "when": [["opt~modcache", {"risk": "caution"}]]},
        },
    },
    "cargo": {
        "style": "plus",
        "sub": {
            "version|metadata|tree|search|help|locate-project|pkgid|verify-project|read-manifest|info|audit|outdated|deny": {"ro": True, "pos": "text"},
            "install": {"pos": "pkg", "risk": "caution", "why": "it installs a program", "fx": ["network", "installs"], "opts": {"--version": "val", "--git": "url", "--path": "val", "--root": "val"}, "when": [["--list", {"ro": True, "risk": "safe", "fx": []}]]},
            "uninstall|remove|rm": {"pos": "text", "risk": "caution", "why": "it removes a program"},
            "publish": {"pos": "text", "risk": "caution", "why": "it publishes the package", "fx": ["external_state:publish"], "when": [["--dry-run|-n", {}]]},
            "yank|owner": {"pos": "text", "risk": "dangerous", "why": "it changes a published package", "fx": ["external_state:publish"], "when": [["--list|-l !--add !--remove !-a !-r", {"ro": True, "risk": "safe", "fx": ["network"]}], ["--undo", {"risk": "caution"}]]},
            "login|logout": {"pos": "text", "risk": "caution", "why": "it changes who is logged in"},
            "clean": {"pos": "text", "risk": "caution", "why": "it deletes what was built"},
        },
        "default": _PROJECT,
    },
    "rustup|gvm|rvm|rbenv|pyenv|nvm|fnm|volta|asdf|mise|rtx|sdk|jenv|goenv|nodenv|phpenv|tfenv|tgenv|tfswitch|n|nodebrew|juliaup|ghcup|elan|choosenim|swiftenv|plenv|luaenv|perlbrew|opam|chruby|conda-lock": {"pos": "text", "risk": "caution", "why": "it changes which versions are installed", "fx": ["installs"], "when": [["arg0~^(?:list|ls|show|versions|version|which|current|where|whence|ls-remote|list-remote|status|doctor|help|info|root|prefix|settings)$", {"ro": True, "risk": "safe", "fx": [], "only": True}]]},
    "dotnet": {"sub": {"--info|--version|--list-sdks|--list-runtimes|list|help": {"ro": True, "pos": "text"}, "nuget": {"verbs": "packages"}}, "default": _PROJECT},
    "msbuild|nuget|xbuild|devenv|paket": _PROJECT,
    "arduino-cli|platformio|pio|esptool|esptool.py|avrdude|openocd|st-flash|dfu-util|stm32flash|picotool|fastboot|heimdall|flashrom|nrfjprog": {"pos": "text", "risk": "caution", "why": "it may write to a device", "when": [["arg~erase", {"risk": "dangerous", "why": "it erases a device"}]]},
    "fastboot|flashrom|heimdall": {"pos": "text", "risk": "dangerous", "why": "it writes the firmware of a device", "when": [["arg0~^(?:devices|getvar|help|--version|print-pit)$", {"risk": "safe", "ro": True, "only": True}], ["-r", {"risk": "caution", "only": True}]]},
    "adb": {
        "sub": {
            "devices|version|help|get-state|get-serialno|host-features": {"ro": True, "pos": "text"},
            "shell": {"pos": "remote", "risk": "caution", "why": "it runs on a device"},
            "pull": {"pos": ["val", "write"], "risk": "caution"},
            "push": {"pos": ["read", "val"], "risk": "caution", "why": "it writes to a device"},
            "uninstall": {"risk": "caution", "pos": "text", "why": "it removes an app"},
            "logcat|start-server|install|reboot|root|unroot|remount|connect|disconnect|forward|reverse|tcpip|sideload|kill-server|wait-for-device|bugreport|backup|restore": {"pos": "text", "risk": "caution", "why": "it changes a device"},
        },
        "opts": {"-s": "val", "-t": "val", "-H": "val", "-P": "val"},
    },
}  # fmt: skip
