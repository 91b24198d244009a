package.loaded["sluice.debug_header"].run()
