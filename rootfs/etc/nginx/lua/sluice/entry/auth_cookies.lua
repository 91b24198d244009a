-- Tells the cookies of an answer to a question to the request that asks.
package.loaded["sluice.auth_cookies"].tell(ngx.header)
