"""Why a reading is not certain, in every language.

The reader gives the reason as half an English sentence, on a path where nothing may be slow. Here such a half sentence
finds its phrase again, when it is to be shown; what a user wrote into `shell.commands` has none and stays as it is.
"""

# ruff: noqa: E501 - a catalogue reads better line by line

from __future__ import annotations

import re
from functools import cache

from holdfast.core.messages import Message, plain
from holdfast.core.messages import Phrase as P

# In this order: what says more stands before what would match it too.
PHRASES: tuple[P, ...] = (
    P("unread.own_file", "{file} is a file of its own, not the {name} of the system", "{file} 是单独的文件，不是系统的 {name}"),
    P("unread.subcommand", "the subcommand {word} of {program} is only known when it runs", "{program} 的子命令 {word} 要到运行时才知道"),
    P("unread.operand", "the operand {word} of dd is only known when it runs", "dd 的操作数 {word} 要到运行时才知道"),
    P("unread.find_test", "the test {word} of find is only known when it runs", "find 的条件 {word} 要到运行时才知道"),
    P("unread.find_places", "where find begins stands in a file", "find 从何处开始写在一个文件里"),
    P("unread.awk_late", "the awk program {text} is only known when it runs", "awk 程序 {text} 要到运行时才知道"),
    P("unread.sed_late", "the sed script {text} is only known when it runs", "sed 脚本 {text} 要到运行时才知道"),
    P("unread.command_late", "the command {word} is only known when it runs", "命令 {word} 要到运行时才知道"),
    P("unread.no_program", "{name} is not a program that is known", "{name} 不是已知的程序"),
    P("unread.file_run", "the file {path} is run and not read here", "会运行文件 {path}，而这里不读取它"),
    P("unread.path_was_changed", "PATH was changed, so {name} may be another program", "PATH 已更改，{name} 可能是另一个程序"),
    P("unread.path_changed", "PATH is changed, so names may mean other programs", "PATH 被更改，名称可能指向其他程序"),
    P("unread.before", "{word} stands before the command", "命令之前有 {word}"),
    P("unread.which_code", "{name} changes which code runs", "{name} 会改变运行哪些代码"),
    P("unread.other_case", "{name} is {lower} on some machines", "在某些机器上 {name} 就是 {lower}"),
    P("unread.names_program", "{name} names a program that is run", "{name} 指定了要运行的程序"),
    P("unread.option_writes", "the option {option} of {program} writes a file or loads code", "{program} 的选项 {option} 会写文件或加载代码"),
    P("unread.option", "the option {option} of {program} is not known", "{program} 的选项 {option} 未知"),
    P("unread.setting", "the setting {key} of {program} is not known", "{program} 的设置 {key} 未知"),
    P("unread.python_module", "the Python module {name} is not known", "Python 模块 {name} 未知"),
    P("unread.inline_command", "the inline program starts a command that is not known", "内联程序启动了未知的命令"),
    P("unread.xargs", "xargs runs scripts that are not known", "xargs 运行未知的脚本"),
    P("unread.parallel_lines", "parallel runs lines that are not known", "parallel 运行未知的各行"),
    P("unread.this_use", "this use of {program} is not known", "{program} 的这种用法未知"),
    P("unread.use", "{word} of {program} is not known", "{program} 的 {word} 未知"),
    P("unread.awk_long", "the awk program is longer than is followed", "awk 程序过长，未完整跟踪"),
    P("unread.sed_long", "the sed script is longer than is followed", "sed 脚本过长，未完整跟踪"),
    P("unread.statement_long", "the statement is longer than is followed", "语句过长，未完整跟踪"),
    P("unread.program_long", "the {language} program is longer than is followed", "{language} 程序过长，未完整跟踪"),
    P("unread.program_deep", "the {language} program is nested deeper than is followed", "{language} 程序嵌套过深，未完整跟踪"),
    P("unread.awk_not_read", "the awk program {path} is not read here", "这里不读取 awk 程序 {path}"),
    P("unread.sed_not_read", "the sed script {path} is not read here", "这里不读取 sed 脚本 {path}"),
    P("unread.statements", "the statements in {path} are not read here", "这里不读取 {path} 中的语句"),
    P("unread.language", "a {language} program is not read here", "这里不读取 {language} 程序"),
    P("unread.awk_builds", "the awk program runs a command that it builds", "awk 程序运行它自己拼成的命令"),
    P("unread.awk_data", "the awk program makes commands of the data it reads", "awk 程序把读到的数据变成命令"),
    P("unread.variable_name", "{name} is another name for a variable", "{name} 是某个变量的别名"),
    P("unread.given_statements", "{program} runs statements that it is given", "{program} 运行传给它的语句"),
    P("unread.given", "{program} runs what it is given", "{program} 运行传给它的内容"),
    P("unread.goes_on", "{program} goes on with what it is given", "{program} 会继续执行传给它的内容"),
    P("unread.less_keys", "less takes its keys from a file or from the command line", "less 从文件或命令行读取按键"),
    P("unread.types", "{program} is told to type {text}", "{program} 被要求输入 {text}"),
    P("unread.editor", "the editor runs a file of commands", "编辑器运行一个命令文件"),
    P("unread.git_elsewhere", "git takes its settings or its programs from elsewhere", "git 从别处获取设置或程序"),
    P("unread.git_runs", "git runs {text} for {key}", "git 为 {key} 运行 {text}"),
    P("unread.java", "a Java program is run", "会运行一个 Java 程序"),
    P("unread.make", "make runs rules given on its command line", "make 运行命令行上给出的规则"),
    P("unread.opens_shell", "{program} opens an interactive shell", "{program} 打开交互式 shell"),
    P("unread.is_shell", "{program} is an interactive shell", "{program} 是交互式 shell"),
    P("unread.parallel", "parallel runs on other machines or changes its own settings", "parallel 在其他机器上运行，或更改自身设置"),
    P("unread.sed_strange", "the sed script {text} is not understood", "无法理解 sed 脚本 {text}"),
    P("unread.python_strange", "the Python program is not understood", "无法理解该 Python 程序"),
    P("unread.module_more", "the module {name} is told to do more than read", "模块 {name} 不只是读取"),
    P("unread.module", "the module {name} is run", "会运行模块 {name}"),
    P("unread.library_run", "the file or library {name} is run", "会运行文件或库 {name}"),
    P("unread.input_run", "what comes in is run", "输入的内容会被运行"),
    P("unread.exec_option", "bash refuses this option of exec", "bash 不接受 exec 的这个选项"),
    P("unread.bash_option", "bash refuses this option", "bash 不接受这个选项"),
    P("unread.perl_debugger", "perl runs a debugger", "perl 运行调试器"),
    P("unread.loaded_into", "{name} is loaded into {program}", "{name} 会加载到 {program} 中"),
    P("unread.library", "the library {name} is loaded", "会加载库 {name}"),
    P("unread.client_files", "the client is told to run, read or write a file", "客户端被要求运行、读取或写入文件"),
    P("unread.functions", "the statement calls functions, which may change data", "语句调用的函数可能更改数据"),
    P("unread.too_long", "it is longer than {most} characters", "超过 {most} 个字符"),
    P("unread.nul", "it holds a NUL, which some shells drop and others stop at", "含有 NUL，有的 shell 会丢弃，有的会在此停止"),
    P("unread.reader_failed", "the reader failed on it ({error})", "读取器处理时出错（{error}）"),
    P("unread.syntax", "bash would not accept it: {error}", "bash 不会接受：{error}"),
    P("unread.syntax_of", "bash would not accept {text}: {error}", "bash 不会接受 {text}：{error}"),
    P("unread.other_grammar", "another grammar sees the command {command} in it", "另一种语法会在其中看到命令 {command}"),
    P("unread.setting_says", "{program} runs what the setting {key} says", "{program} 运行设置 {key} 所指定的内容"),
    P("unread.prompt", "a value is expanded as a prompt, with the commands in it", "某个值会作为提示符展开，其中的命令会运行"),
    P("unread.recursion", "the function {name} calls itself", "函数 {name} 调用自身"),
    P("unread.arguments", "more arguments than are followed", "参数过多，未完整跟踪"),
    P("unread.argument", "an argument longer than is followed", "参数过长，未完整跟踪"),
    P("unread.parts", "more parts than are followed", "组成部分过多，未完整跟踪"),
    P("unread.nested", "nested deeper than is followed", "嵌套过深，未完整跟踪"),
    P("unread.wrapped", "wrapped deeper than is followed", "层层包裹过深，未完整跟踪"),
    P("unread.commands", "more commands than are followed", "命令过多，未完整跟踪"),
    P("unread.words", "more words than are followed", "词过多，未完整跟踪"),
    P("unread.long_variable", "a variable longer than is followed", "变量过长，未完整跟踪"),
    P("unread.braces", "more braces than are followed", "花括号过多，未完整跟踪"),
    P("unread.brace_expansion", "a brace expansion larger than is followed", "花括号展开过大，未完整跟踪"),
    P("unread.built_text", "the {language} program runs text that it builds", "{language} 程序运行它自己拼成的文本"),
    P("unread.builds_part", "the inline program builds part of its command", "内联程序自己拼成命令的一部分"),
    P("unread.text_with", "the Python program runs text with {name}", "Python 程序用 {name} 运行文本"),
    P("unread.statement", "the Python program runs a statement that is not known", "Python 程序运行未知的语句"),
    P("unread.computed", "the Python program calls something computed", "Python 程序调用计算得出的对象"),
    P("unread.shell_values", "the {language} program holds values of the shell", "{language} 程序含有 shell 的值"),
    P("unread.holds", "the {language} program holds {what}", "{language} 程序含有 {what}"),
    P("unread.late_call", "the {language} program calls what is not known before it runs ({text})", "{language} 程序调用的内容在运行前无法得知（{text}）"),
    P("unread.copies", "the {language} program starts copies of itself", "{language} 程序启动自身的副本"),
    P("unread.calls", "the {language} program calls {name}", "{language} 程序调用 {name}"),
    P("unread.uses", "the {language} program uses {name}", "{language} 程序使用 {name}"),
    P("unread.ctypes", "ctypes can do anything", "ctypes 可以做任何事"),
    P("unread.builds_objects", "{name} builds objects from data", "{name} 由数据构造对象"),
    P("unread.brew", "a command of brew that is not listed", "brew 的一个未列出的命令"),
    P("unread.code_file", "a file of code is run", "会运行一个代码文件"),
    P("unread.other_machine", "a session on another machine", "在另一台机器上的会话"),
    P("unread.other_identity", "a shell with another identity", "以另一身份运行的 shell"),
    P("unread.session", "an interactive session", "交互式会话"),
    P("unread.shell", "an interactive shell", "交互式 shell"),
    P("unread.session_on", "a session on {host}", "在 {host} 上的会话"),
    P("unread.image", "it builds an image by the project's recipe", "按项目的配方构建镜像"),
    P("unread.machine_images", "it builds machine images", "构建机器镜像"),
    P("unread.builds_project", "it builds or runs the project", "构建或运行项目"),
    P("unread.plugins", "it loads plugins or settings of the project", "加载项目的插件或设置"),
    P("unread.renames", "it makes a name mean another program", "让某个名称指向另一个程序"),
    P("unread.sooner_or_later", "it runs a command sooner or later", "迟早会运行一个命令"),
    P("unread.runs_command", "it runs a command", "会运行一个命令"),
    P("unread.job", "it runs a job", "会运行一个任务"),
    P("unread.controlled", "it runs a program under its control", "在其控制下运行程序"),
    P("unread.runs_program", "it runs a program", "会运行一个程序"),
    P("unread.project_script", "it runs a script of the project", "运行项目的脚本"),
    P("unread.virtual_machine", "it runs a virtual machine", "运行虚拟机"),
    P("unread.former", "it runs former commands", "运行以前的命令"),
    P("unread.macros", "it runs macros, which may run commands", "运行宏，而宏可能运行命令"),
    P("unread.migrations", "it runs the project's migrations", "运行项目的迁移"),
    P("unread.package", "it runs what the package configures", "运行软件包所配置的内容"),
    P("unread.package_build", "it runs what the package's build says", "运行软件包构建所指定的内容"),
    P("unread.project", "it runs what the project configures", "运行项目所配置的内容"),
    P("unread.git_server", "the server side of git", "git 的服务器端"),
    # what the parser says of a text that bash would not accept
    P("syntax.position", "{what} at character {position}", "第 {position} 个字符处{what}"),
    P("syntax.unexpected", "unexpected {text}", "意外的 {text}"),
    P("syntax.nothing_follows", "nothing follows {operator}", "{operator} 之后没有内容"),
    P("syntax.command", "a command is missing", "缺少命令"),
    P("syntax.function", "a function name is missing", "缺少函数名"),
    P("syntax.loop", "the variable of the loop is missing", "缺少循环变量"),
    P("syntax.array_end", "')' of an array is missing", "数组缺少 ')'"),
    P("syntax.word", "a word is missing", "缺少一个词"),
    P("syntax.missing", "{text} is missing", "缺少 {text}"),
    P("syntax.single_quote", "a single quote is not closed", "单引号没有闭合"),
    P("syntax.array", "an array is not closed", "数组没有闭合"),
    P("syntax.string", "a $'...' string is not closed", "$'...' 字符串没有闭合"),
    P("syntax.backquote", "a backquote is not closed", "反引号没有闭合"),
    P("syntax.name", "'${{' is not followed by a name", "'${{' 之后没有名称"),
    P("syntax.arithmetic", "no arithmetic", "不是算术表达式"),
)  # fmt: skip
_SLOT = re.compile(r"\\\{(\w+)\\\}")
_TRANSLATED_INSIDE = ("error", "what")


def why_unknown(half: str) -> Message:
    """The message of a half sentence; as it is where there is none."""
    for phrase, pattern in _patterns():
        if found := pattern.fullmatch(half):
            values = found.groupdict()
            inner = {name: why_unknown(text) if name in _TRANSLATED_INSIDE else text for name, text in values.items()}
            return phrase(**inner)
    return plain(half)


@cache
def _patterns() -> tuple[tuple[P, re.Pattern[str]], ...]:
    return tuple((phrase, re.compile(_expression(phrase.en), re.S)) for phrase in PHRASES)


def _expression(template: str) -> str:
    text = template.replace("{{", "\x00").replace("}}", "\x01")
    return _SLOT.sub(r"(?P<\1>.+?)", re.escape(text)).replace("\x00", r"\{").replace("\x01", r"\}")
