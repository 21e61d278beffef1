/** The spans are spread evenly over these: with ten million, the largest project has two and a half. */
export const projects = ['bench-one', 'bench-two', 'bench-three', 'bench-four'] as const

/** Sessions began at some time of these last days. */
export const SPREAD_DAYS = 30
export const DAY_MS = 86_400_000
