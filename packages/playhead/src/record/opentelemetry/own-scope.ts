/** The instrumentation scope of everything that this SDK records. */
export const OWN_SCOPE = 'playhead'
