export default function AssistantPage() {
  return <h1>Assistant</h1>;
}
