package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"strings"
)

const (
	slicesPath      = "/apis/discovery.k8s.io/v1/endpointslices?watch=true&resourceVersion=0"
	mostObjectBytes = 16 * 1024 * 1024
)

// stream is a watch of all endpoint slices that only reads.
type stream struct {
	client  *http.Client
	request *http.Request
}

func openStream(server, tokenFile, authorityFile string) (*stream, error) {
	authority, err := os.ReadFile(authorityFile)
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	config := &tls.Config{RootCAs: trusted, ServerName: "kubernetes.default.svc"}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	request, err := http.NewRequest(http.MethodGet, server+slicesPath, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("authorization", "Bearer "+strings.TrimSpace(string(token)))
	return &stream{&http.Client{Transport: transport}, request}, nil
}

// readStream watches until it fails; the server may end a watch, and then it begins anew.
func (watcher *watcher) readStream(stream *stream) error {
	for {
		response, err := stream.client.Do(stream.request)
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("the API server answers a watch with %s", response.Status)
		}
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(make([]byte, 1024*1024), mostObjectBytes)
		for lines.Scan() {
			watcher.lookAtObject(lines.Bytes())
		}
		response.Body.Close()
	}
}

func (watcher *watcher) lookAtObject(object []byte) {
	watcher.lock.Lock()
	defer watcher.lock.Unlock()
	if watcher.text == nil || watcher.seen.ToldMs != 0 || !bytes.Contains(object, watcher.text) {
		return
	}
	watcher.seen.ToldMs = monotonicMs()
}
