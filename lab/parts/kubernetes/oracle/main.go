// Oracle answers, with upstream's own code, what kube-proxy makes of a cluster: which ports a
// Service has in a family, and which endpoints are chosen for them on a node.
//
// One JSON state on each line of standard input, one JSON answer on each line of standard output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sort"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/proxy"
)

type state struct {
	NodeName string                     `json:"nodeName"`
	Zone     string                     `json:"zone"`
	Services []*v1.Service              `json:"services"`
	Slices   []*discovery.EndpointSlice `json:"slices"`
}

type servicePort struct {
	Key             string   `json:"key"`
	ClusterIP       string   `json:"clusterIP"`
	Port            int      `json:"port"`
	NodePort        int      `json:"nodePort"`
	ExternalIPs     []string `json:"externalIPs"`
	LoadBalancerIPs []string `json:"loadBalancerIPs"`
	SourceRanges    []string `json:"sourceRanges"`
	InternalLocal   bool     `json:"internalLocal"`
	ExternalLocal   bool     `json:"externalLocal"`
	AffinitySeconds int      `json:"affinitySeconds"`
	Cluster         []string `json:"cluster"`
	Local           []string `json:"local"`
	Anywhere        bool     `json:"anywhere"`
}

type answer struct {
	Ports  []servicePort  `json:"ports"`
	Health map[string]int `json:"health"`
}

func main() {
	// What upstream logs about odd objects is not the answer.
	klog.SetLogger(klog.Logger{})
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	decoder := json.NewDecoder(in)
	encoder := json.NewEncoder(out)
	for decoder.More() {
		var s state
		if err := decoder.Decode(&s); err != nil {
			fmt.Fprintln(os.Stderr, "oracle: cannot read a state:", err)
			os.Exit(1)
		}
		if err := encoder.Encode(judge(&s)); err != nil {
			fmt.Fprintln(os.Stderr, "oracle: cannot write an answer:", err)
			os.Exit(1)
		}
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
	out.Flush()
}

func judge(s *state) answer {
	result := answer{Ports: []servicePort{}, Health: map[string]int{}}
	for _, family := range []v1.IPFamily{v1.IPv4Protocol, v1.IPv6Protocol} {
		judgeFamily(s, family, &result)
	}
	sort.Slice(result.Ports, func(i, j int) bool { return result.Ports[i].Key < result.Ports[j].Key })
	return result
}

func judgeFamily(s *state, family v1.IPFamily, result *answer) {
	serviceChanges := proxy.NewServiceChangeTracker(family, nil, nil)
	endpointChanges := proxy.NewEndpointsChangeTracker(family, s.NodeName, nil, nil)
	for _, service := range s.Services {
		serviceChanges.Update(nil, service)
	}
	for _, slice := range s.Slices {
		endpointChanges.EndpointSliceUpdate(slice, false)
	}
	services := proxy.ServicePortMap{}
	services.Update(serviceChanges)
	endpoints := proxy.EndpointsMap{}
	endpoints.Update(endpointChanges)
	labels := map[string]string{v1.LabelTopologyZone: s.Zone}
	for name, port := range services {
		cluster, local, _, anywhere := proxy.CategorizeEndpoints(endpoints[name], port, s.NodeName, labels)
		result.Ports = append(result.Ports, servicePort{
			Key:             fmt.Sprintf("%s/%s/%s", name.String(), name.Protocol, family),
			ClusterIP:       port.ClusterIP().String(),
			Port:            port.Port(),
			NodePort:        port.NodePort(),
			ExternalIPs:     addresses(port.ExternalIPs()),
			LoadBalancerIPs: addresses(port.LoadBalancerVIPs()),
			SourceRanges:    ranges(port.LoadBalancerSourceRanges()),
			InternalLocal:   port.InternalPolicyLocal(),
			ExternalLocal:   port.ExternalPolicyLocal(),
			AffinitySeconds: affinity(port),
			Cluster:         names(cluster),
			Local:           names(local),
			Anywhere:        anywhere,
		})
	}
	counts := endpoints.LocalReadyEndpoints()
	for name, healthPort := range services.HealthCheckNodePorts() {
		result.Health[fmt.Sprintf("%s/%d/%s", name, healthPort, family)] = counts[name]
	}
}

func affinity(port proxy.ServicePort) int {
	if port.SessionAffinityType() != v1.ServiceAffinityClientIP {
		return 0
	}
	return port.StickyMaxAgeSeconds()
}

func addresses(ips []net.IP) []string {
	texts := []string{}
	for _, ip := range ips {
		texts = append(texts, ip.String())
	}
	return texts
}

func ranges(nets []*net.IPNet) []string {
	texts := []string{}
	for _, ipNet := range nets {
		texts = append(texts, ipNet.String())
	}
	return texts
}

func names(endpoints []proxy.Endpoint) []string {
	texts := []string{}
	for _, endpoint := range endpoints {
		texts = append(texts, endpoint.String())
	}
	return texts
}
