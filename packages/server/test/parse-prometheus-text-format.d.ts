declare module 'parse-prometheus-text-format' {
  type Metric = {
    value?: string
    labels?: Record<string, string>
    buckets?: Record<string, string>
    count?: string
    sum?: string
  }
  export default function parse(
    text: string,
  ): { name: string; help: string; type: string; metrics: Metric[] }[]
}
