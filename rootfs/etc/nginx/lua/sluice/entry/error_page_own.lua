-- Answers an error with the page of nginx.
return require("sluice.error_page").own()
