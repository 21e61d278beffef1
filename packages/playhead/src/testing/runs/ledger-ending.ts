/** Ends the names of the files that a run's results are in; each process has its own. */
export const LEDGER_ENDING = '.results.jsonl'
