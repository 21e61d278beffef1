/** Why a target may be missed, found by profiling; said on the page beneath the figures that miss it. */
export const gaps: readonly (readonly [RegExp, string])[] = []
