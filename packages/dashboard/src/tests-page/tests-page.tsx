export function TestsPage() {
  return <h1>Tests</h1>
}
