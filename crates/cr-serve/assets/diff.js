// diff
