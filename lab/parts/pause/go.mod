module fairlead/lab/parts/pause

go 1.26.0
