from session import log, write

write(log().select("user", "page").unique())
