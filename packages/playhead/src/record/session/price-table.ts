import { createPricer } from '@playhead/model/prices'

/** Built as a separate file of 1 MB, which is loaded only when a program asks what a session cost. */
export const pricer = createPricer()
