package local

// olderAttributeCalls are none here.
var olderAttributeCalls map[int]attributeCall
