/** The browser reads a blob some time after the click. */
const READ_WITHIN_MS = 10_000

/** Saves a file that the page made. */
export function saveText(fileName: string, text: string, type = 'text/plain'): void {
  const href = URL.createObjectURL(new Blob([text], { type }))
  saveUrl(fileName, href)
  setTimeout(() => URL.revokeObjectURL(href), READ_WITHIN_MS)
}

/** Saves a file that the server makes. */
export function saveUrl(fileName: string, href: string): void {
  const anchor = document.createElement('a')
  anchor.download = fileName
  anchor.href = href
  anchor.click()
}
