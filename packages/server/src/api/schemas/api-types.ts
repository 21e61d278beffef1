export type { ApiBodies } from './requests.ts'
export type { ApiResponses, LiveEvent, ProgressLine, ProgressResults } from './responses.ts'
