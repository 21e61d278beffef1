export function SessionsPage() {
  return <h1>Sessions</h1>
}
