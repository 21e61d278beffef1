import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { readOneFileIndex, readOneFileReport } from '@playhead/model'
import { applyTheme } from '../ui/browser/theme.ts'
import { OneFileApp } from './one-file-app.tsx'
import '../ui/browser/theme.css'

try {
  applyTheme()
} catch {
  // A page opened from disk may have no storage; the system theme applies then.
}

const [sessions, report] = await Promise.all([readOneFileIndex(document), readOneFileReport(document)])
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider
      client={new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })}
    >
      <OneFileApp sessions={sessions ?? []} report={report} />
    </QueryClientProvider>
  </StrictMode>,
)
