-- Answers an error with the page of nginx.
return package.loaded["sluice.error_page"].own()
