from session import log, write

views = log().group_by("page").len()
write(views.sort("len", "page", descending=[True, False]).head(100))
