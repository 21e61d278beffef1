let isWanted = false

/** Called when the program makes our processor, which it will add to its provider. */
export function wantProcessor(): void {
  isWanted = true
}

export function isProcessorWanted(): boolean {
  return isWanted
}
