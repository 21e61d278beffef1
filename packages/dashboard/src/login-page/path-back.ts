/** Where to go after the login: a page of ours, whatever the address says. */
export function pathBack(back: string | undefined): string {
  const isOurs = back !== undefined && /^\/(?![/\\])/.test(back) && !back.startsWith('/login')
  return isOurs ? back : '/sessions'
}
