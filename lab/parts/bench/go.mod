module fairlead/lab/parts/bench

go 1.26.0
