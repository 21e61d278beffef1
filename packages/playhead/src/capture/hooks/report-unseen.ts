import type { ActiveCapture } from '../calls/active-capture.ts'

/** Says once for each host what to do about calls that can't be watched. */
export function reportUnseen(capture: ActiveCapture, url: URL): void {
  capture.failed += 1
  capture.reportOnce(
    `unseen ${url.host}`,
    `Calls to ${url.host} are not recorded: they go through a dispatcher of their own, of an undici before 7.11. ` +
      `Wrap the client: playhead.${wrapperFor(url)}(client).`,
  )
}

function wrapperFor({ pathname }: URL): string {
  if (pathname.endsWith('/messages')) return 'wrapAnthropic'
  return pathname.includes(':') ? 'wrapGoogleGenAI' : 'wrapOpenAI'
}
