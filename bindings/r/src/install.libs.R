# The library, and beside it the program that tracks: the core looks for it in ../bin of the library's folder.
put <- function(files, folder) {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  if (!all(file.copy(files, folder, overwrite = TRUE))) stop("can't copy to ", folder)
}
put(paste0(R_PACKAGE_NAME, SHLIB_EXT), file.path(R_PACKAGE_DIR, paste0("libs", R_ARCH)))
if (file.exists("symbols.rds")) { # for R CMD check
  put("symbols.rds", file.path(R_PACKAGE_DIR, paste0("libs", R_ARCH)))
}
programs <- c("resource-tracker", if (file.exists("resource-tracker-net")) "resource-tracker-net")
put(programs, file.path(R_PACKAGE_DIR, "bin"))
Sys.chmod(file.path(R_PACKAGE_DIR, "bin", programs), "0755")
