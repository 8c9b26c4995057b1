package main

import (
	"context"
	"fmt"
	"net/http"
)

// probeClient keeps no connections: whom it asks is hardly asked again.
var probeClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// probeTasknode asks the page of a tasknode for a sign of life. Whatever it
// answers is one, also that it is not well.
func probeTasknode(ctx context.Context, page string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+page+"/health", nil)
	if err != nil {
		return fmt.Errorf("page of a tasknode: %w", err)
	}
	answer, err := probeClient.Do(request)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
