package reports

// Record is an operation, or a watch. Package json ignores the case of letters in names.
type Record struct {
	ClientID *int64
	Input    *Request
	Call     *int64
	Output   *Response
	Return   *int64

	Request   *Watch
	Responses []Delivery
}

type Request struct {
	Type        string
	Range       *Range                    `json:",omitempty"`
	Txn         *Txn                      `json:",omitempty"`
	LeaseGrant  *struct{ LeaseID int64 }  `json:",omitempty"`
	LeaseRevoke *struct{ LeaseID int64 }  `json:",omitempty"`
	Compact     *struct{ Revision int64 } `json:",omitempty"`
}

type Range struct {
	Start, End string
	Limit      int64
	KeysOnly   bool
	Revision   int64
}

type Txn struct {
	Conditions                               []Condition
	OperationsOnSuccess, OperationsOnFailure []Action
}

type Condition struct {
	Key                               string
	ExpectedRevision, ExpectedVersion int64
}

type Action struct {
	Type  string
	Range Range
	Put   struct {
		Key     string
		Value   Value
		LeaseID int64
	}
	Delete struct{ Key string }
}

type Value struct {
	Value string `json:",omitempty"`
	Hash  uint32 `json:",omitempty"`
}

type Response struct {
	Txn               *TxnResponse `json:",omitempty"`
	Range             *Result      `json:",omitempty"`
	ClientError       string       `json:",omitempty"`
	Revision          int64        `json:",omitempty"`
	Persisted         bool         `json:",omitempty"`
	PersistedRevision int64        `json:",omitempty"`
	Error             string       `json:",omitempty"`
}

type TxnResponse struct {
	Failure bool
	Results []Result
}

type Result struct {
	KVs            []KV
	Count, Deleted int64
}

type KV struct {
	Key                  string
	Value                Value
	ModRevision, Version int64
}

type Watch struct {
	Key                                        string
	Revision                                   int64
	WithPrefix, WithProgressNotify, WithPrevKV bool
}

type Delivery struct {
	Events           []Event
	IsProgressNotify bool
	Revision, Time   int64
	Error            string
}

type Event struct {
	Type, Key string
	Value     Value
	Revision  int64
	IsCreate  bool
	PrevValue *Previous `json:",omitempty"`
}

type Previous struct {
	Value                Value
	ModRevision, Version int64
}
