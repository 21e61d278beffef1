export function ReplayPage() {
  return <h1>Replay</h1>
}
