type FilterField = {
  summary: string
  /** How several values combine; a field without it takes one value. */
  several?: 'any' | 'all'
}

/** The fields that sessions can be filtered by, in the API, the CLI and the dashboard. */
export const sessionFilterFields = {
  status: { summary: 'End state', several: 'any' },
  tag: { summary: 'Has this tag', several: 'all' },
  tool: { summary: 'Ran this action', several: 'all' },
  failedTool: { summary: 'Ran this action and it failed', several: 'all' },
  error: { summary: 'Had an error of this type or fingerprint', several: 'any' },
  finding: { summary: 'Has a suspect for this kind of finding: "loop", "bad-argument"', several: 'any' },
  issue: { summary: 'Belongs to this issue' },
  score: {
    summary:
      'Has this score: "helpful>=0.8", "verdict=wrong", "helpful" with any value, "!verdict" without it',
    several: 'all',
  },
  model: { summary: 'Called this model', several: 'any' },
  agent: { summary: 'Involved this agent', several: 'all' },
  cost: { summary: 'Cost in US dollars: ">0.01", "<=1", "0.01..0.05"' },
  duration: { summary: 'Duration: ">2s", "<500ms", "1s..5m"' },
  name: { summary: 'Text in the name or the first input line, ignoring case' },
  user: { summary: 'User ID' },
  thread: { summary: 'Thread ID' },
  environment: { summary: 'Deployment environment' },
  version: { summary: 'Version of the program: `service.version`' },
  branch: { summary: 'Git branch' },
  test: { summary: 'Name of the test, with or without its suites' },
  testFile: { summary: 'File of the test' },
  runId: { summary: 'ID of the test run' },
  variant: { summary: 'Variant of the test' },
  parent: { summary: 'Re-runs of this session: its id or the first digits' },
  lane: { summary: 'Re-runs of this lane', several: 'any' },
  reruns: {
    summary: 'Whether re-runs are included; lists include them, statistics do not unless you ask for them',
  },
  demo: { summary: 'Only demo sessions, or none of them' },
  from: { summary: 'Started at or after this time: an ISO time, or how long ago: "24h", "7d"' },
  to: { summary: 'Started before this time: an ISO time, or how long ago' },
  text: {
    summary:
      'Words in prompts, answers, arguments, results or names; all of them, in any steps of the session',
  },
} as const satisfies { [name: string]: FilterField }

export type SessionFilterField = keyof typeof sessionFilterFields

/** "Has this tag (repeat to require all)". */
export function describeFilterField(name: SessionFilterField): string {
  const { summary, several }: FilterField = sessionFilterFields[name]
  if (several === undefined) return summary
  return `${summary} (repeat to ${several === 'all' ? 'require all' : 'match any'})`
}
