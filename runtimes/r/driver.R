# One R context: takes cells from descriptor 3, evaluates them, and answers on descriptor 4, in JSON, one message a line.
# A request is a line with the lengths of its words in bytes, then the words: the code, then names and values of
# variables. Plots are left as files, whose paths are told.

local({
  requests <- file("/proc/self/fd/3", "rb", raw = TRUE)
  answers <- file("/proc/self/fd/4", "wb", raw = TRUE)
  pictures <- tempfile("plots")
  dir.create(pictures)
  state <- new.env()
  state$calls <- list()

  quoted <- function(text) {
    text <- enc2utf8(paste(text, collapse = "\n"))
    text <- iconv(text, "UTF-8", "UTF-8", sub = "?")
    for (pair in list(c("\\", "\\\\"), c("\"", "\\\""), c("\n", "\\n"), c("\r", "\\r"), c("\t", "\\t"))) {
      text <- gsub(pair[1], pair[2], text, fixed = TRUE)
    }
    paste0("\"", gsub("[\001-\037]", "?", text), "\"")
  }

  answer <- function(...) {
    writeLines(enc2utf8(paste0("{", ..., "}")), answers, useBytes = TRUE)
    flush(answers)
  }

  fail <- function(name, value, lines) {
    lines <- paste(vapply(lines, quoted, ""), collapse = ",")
    answer("\"op\":\"error\",\"name\":", quoted(name), ",\"value\":", quoted(value), ",\"traceback\":[", lines, "]")
    FALSE
  }

  # A device of our own opens with the first plot of a cell, and each page of it is a file.
  options(device = function(...) {
    grDevices::png(file.path(pictures, "%04d.png"), width = 960, height = 720, res = 144, type = "cairo")
    state$device <- grDevices::dev.cur()
  })

  show_plots <- function() {
    if (!is.null(state$device) && state$device %in% grDevices::dev.list()) grDevices::dev.off(state$device)
    state$device <- NULL
    for (file in sort(list.files(pictures, full.names = TRUE))) {
      answer("\"op\":\"picture\",\"path\":", quoted(file))
    }
  }

  evaluate <- function(code) {
    parsed <- tryCatch(parse(text = code, keep.source = TRUE), error = identity)
    if (inherits(parsed, "error")) {
      message <- sub("^<text>:", "line ", conditionMessage(parsed))
      return(fail("SyntaxError", strsplit(message, "\n")[[1]][1], strsplit(message, "\n")[[1]]))
    }
    last <- length(parsed)
    for (at in seq_along(parsed)) {
      value <- withVisible(eval(parsed[[at]], globalenv()))
      if (!value$visible) next
      if (at < last) {
        print_value(value$value)
      } else {
        assign(".Last.value", value$value, envir = globalenv())
        text <- utils::capture.output(print_value(value$value))
        if (length(text) > 0) answer("\"op\":\"result\",\"data\":{\"text/plain\":", quoted(text), "}")
      }
    }
    TRUE
  }

  # As the prompt does it: objects of the newer kind have a way of their own.
  print_value <- function(value) if (isS4(value)) methods::show(value) else print(value)

  raised <- function(problem) {
    call <- conditionCall(problem)
    message <- conditionMessage(problem)
    first <- if (is.null(call)) paste0("Error: ", message) else paste0("Error in ", deparse(call)[1], " : ", message)
    # What the driver itself called says nothing to the author of a cell.
    begun <- which(vapply(state$calls, function(call) identical(call[[1]], quote(withVisible)), TRUE))
    inner <- if (length(begun) > 0) state$calls[-seq_len(begun[1] + 2)] else list()
    inner <- inner[!vapply(inner, function(call) {
      deparse(call[[1]])[1] %in% c(".handleSimpleError", "h", "stop", "withCallingHandlers", "signalCondition")
    }, TRUE)]
    lines <- vapply(inner, function(call) paste0("  ", deparse(call)[1]), "")
    name <- class(problem)[1]
    fail(if (name %in% c("simpleError", "error")) "Error" else name, message, c(first, lines))
  }

  execute <- function(words) {
    names <- words[seq_along(words) %% 2 == 0]
    before <- Sys.getenv(names, unset = NA, names = TRUE)
    if (length(names) > 0) do.call(Sys.setenv, stats::setNames(as.list(words[seq_along(words) > 1 & seq_along(words) %% 2 == 1]), names))
    fine <- tryCatch(
      withCallingHandlers(evaluate(words[1]), error = function(problem) state$calls <- sys.calls()),
      error = raised,
      interrupt = function(...) fail("KeyboardInterrupt", "the execution was interrupted", "KeyboardInterrupt")
    )
    while (sink.number() > 0) sink()
    try(show_plots(), silent = TRUE)
    for (name in names) {
      if (is.na(before[[name]])) Sys.unsetenv(name) else do.call(Sys.setenv, stats::setNames(list(before[[name]]), name))
    }
    answer("\"op\":\"done\",\"status\":", if (isTRUE(fine)) "\"ok\"" else "\"error\"")
  }

  read_word <- function(size) {
    text <- rawToChar(readBin(requests, "raw", size))
    Encoding(text) <- "UTF-8"
    text
  }

  # Warnings at once, as they come; wide enough for tables.
  options(warn = 1, width = 110, browser = "false", menu.graphics = FALSE)
  answer("\"op\":\"ready\",\"version\":", quoted(as.character(getRversion())))
  repeat {
    line <- tryCatch(readLines(requests, 1), interrupt = function(...) NA)
    if (length(line) == 0) quit(save = "no", status = 0)
    if (is.na(line)) next
    execute(vapply(as.integer(strsplit(line, " ")[[1]]), read_word, ""))
  }
})
