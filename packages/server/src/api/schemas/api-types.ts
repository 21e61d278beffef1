export type { ApiBodies } from './requests.ts'
export type { ApiResponses, LiveEvent, LiveJobEvent, ProgressLine, ProgressResults } from './responses.ts'
