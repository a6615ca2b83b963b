export default function ResearchPage() {
  return <h1>Research</h1>;
}
