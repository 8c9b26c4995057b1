package workload

import (
	"maps"
	"slices"
)

// presets are specs with the quotas of the HFSP paper's two workloads: so many
// jobs of each class, numbers of tasks spread between the class's bounds evenly
// on a logarithmic scale (what a bounded Pareto law with a tiny ALPHA is), bytes
// of reduces as the public traces have them on average. They stand in for those
// traces where they are not at hand.
var presets = map[string]string{
	"fb2009": `arrival=exp:13s
class=small,jobs=53,maps=uniform:1:2,map-bytes=exp:64k
class=medium,jobs=41,maps=pareto:0.01:3:499,reduces=pareto:0.01:1:200,reduce-bytes=exp:46m
class=big,jobs=6,maps=pareto:0.01:500:3000,reduces=pareto:0.01:10:200,reduce-bytes=exp:165m`,
	"fb2010": `arrival=exp:38s
class=expand,jobs=39,maps=pareto:0.01:401:1500,reduces=const:10,reduce-bytes=exp:8m
class=expand_transform,jobs=16,maps=pareto:0.01:401:1500,reduces=uniform:11:100,reduce-bytes=exp:60m
class=transform_s,jobs=11,maps=pareto:0.01:401:1500,reduces=uniform:101:200,reduce-bytes=exp:390m
class=aggregate,jobs=10,maps=pareto:0.01:1501:2500,reduces=uniform:10:100,reduce-bytes=exp:42m
class=transform_m,jobs=7,maps=pareto:0.01:1501:2500,reduces=uniform:101:200,reduce-bytes=exp:1.1g
class=transform_l,jobs=10,maps=pareto:0.01:2501:5000,reduces=uniform:101:200,reduce-bytes=exp:2.6g`,
}

// Presets are the names of the specs that ParseSpec knows by name, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }
