wrk.method = "POST"
wrk.body = '{"title":"Harbour at dusk","prompt":"Still life, soft light"}'
wrk.headers["Content-Type"] = "application/json"
