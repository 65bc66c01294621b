// Package page writes a result as an HTML page: one file that needs no network,
// with everything that the owner of a failing test wants to know about it.
//
//	┌────────────────────────────────────────────────┐
//	│ INVALID  history.edn                           │  verdict and summary
//	│ value 2 was read by process 0 after ..         │  the sentence
//	│ ┌────────────────────────────────────────────┐ │
//	│ │ the window, as SVG                         │ │  zoom, pan, hover, focus
//	│ └────────────────────────────────────────────┘ │
//	│ ▁▂▂▃▂▂▁▂▃▂▂▂▂▃▂▂▂▂▂▃▂▂│▂▂▂▂▃▂▂▂▂▂▂▂▂▃▂▂▂▂▂▂▂▂▂▂▂▂ │  the whole history
//	│ find: ______                                   │
//	│ ▸ operations ▸ text ▸ core ▸ what was tried    │
//	│ levels and anomalies                           │  of transactions, each with a drawing
//	└────────────────────────────────────────────────┘
//
// If there are independent keys, the page has an index, and the part in between for
// each of the first keys that fail. WriteIndex writes an index of the pages of a store.
//
// A page has at most MaxBytes, regardless of the length of the history. It holds
// the operations of the window and as many around it as there is room for. It
// counts all others for the strip. WriteServed writes the same page with the links of a server,
// and WriteList a list of runs or files. Values are always shortened text. The page's
// Content-Security-Policy allows only the script of this package to run.
package page
