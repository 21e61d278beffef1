import { createPricer } from '@playhead/model/prices'

/** Built as a file of its own: 1 MB that only those load who ask what a session cost. */
export const pricer = createPricer()
