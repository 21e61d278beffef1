/** Server-sent events, however their bytes are torn apart. Only what follows `data:` matters here. */
export class EventStream {
  #rest = ''
  #data: string | undefined

  /** The data of the events that the text completes. */
  add(text: string): string[] {
    const found: string[] = []
    const all = this.#rest + text
    let start = 0
    for (let end = all.indexOf('\n'); end !== -1; end = all.indexOf('\n', start)) {
      const isReturned = all.charCodeAt(end - 1) === 13
      this.#addLine(all.slice(start, isReturned ? end - 1 : end), found)
      start = end + 1
    }
    this.#rest = start === 0 ? all : all.slice(start)
    return found
  }

  /** What is left when the stream ends without a blank line. */
  end(): string[] {
    return this.add('\n\n')
  }

  #addLine(line: string, found: string[]): void {
    if (line === '') {
      if (this.#data !== undefined) found.push(this.#data)
      this.#data = undefined
    } else if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5)
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    }
  }
}

/** JSON values, one a line. */
export class JsonLines {
  #rest = ''

  add(text: string): string[] {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    return lines.filter((line) => line.trim() !== '')
  }

  end(): string[] {
    return this.add('\n')
  }
}
