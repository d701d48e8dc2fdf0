-- nvim runs LuaJIT; what a plugin may use of it is Lua 5.1 and `vim`.
std = "luajit"
globals = { "vim" }
max_line_length = 120
self = false
