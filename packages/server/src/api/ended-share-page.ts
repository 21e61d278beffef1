import type { ShareState } from '../access/shares.ts'

const texts: Record<Exclude<ShareState, 'open'> | 'unknown', { title: string; text: string }> = {
  expired: {
    title: 'This link has expired',
    text: 'It showed one session for a limited time, and that time is over. Ask whoever sent it to you for a new one.',
  },
  revoked: {
    title: 'This link was revoked',
    text: 'Whoever shared the session has withdrawn the link. Ask them for a new one if you still need it.',
  },
  unknown: {
    title: 'There is no such link',
    text: 'The address may be cut off or mistyped. Check it, or ask whoever sent it to you for a new one.',
  },
}

/** What people see who open a share link that does not work. It needs no script, and leads nowhere. */
export function endedSharePage(state: Exclude<ShareState, 'open'> | undefined): string {
  const { title, text } = texts[state ?? 'unknown']
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title} · Playhead</title>
<style>
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 34rem; margin: 18vh auto; padding: 0 1.5rem; }
  h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; }
  p { margin: 0; opacity: .8; }
  small { display: block; margin-top: 2.5rem; opacity: .6; }
</style>
<main>
<h1>${title}</h1>
<p>${text}</p>
<small>Playhead</small>
</main>
</html>
`
}
